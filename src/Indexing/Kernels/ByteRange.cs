namespace Treepie.Indexing.Kernels;

/// <summary>Bytes from one up to another, both included; empty, where the last is below the first.</summary>
/// <param name="First">The first: 0 to 256.</param>
/// <param name="Last">The last: −1 to 255.</param>
internal readonly record struct ByteRange(int First, int Last)
{
    public bool IsEmpty => Last < First;

    public byte From => (byte)First;

    /// <summary>By how much the last exceeds the first; says nothing of an empty one.</summary>
    public byte Span => (byte)(Last - First);

    public bool Contains(byte value) => value >= First && value <= Last;
}
