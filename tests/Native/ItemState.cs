namespace Treepie.NativeProgram;

/// <summary>States of an item.</summary>
internal enum ItemState
{
    Open,
    Sold,
    Gone,
}
