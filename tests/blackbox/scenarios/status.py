"""todo"""
