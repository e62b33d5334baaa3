a
b
node id off
element id off
part
1
d
block
2 2 2
