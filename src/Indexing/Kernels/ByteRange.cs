namespace Treepie.Indexing.Kernels;

/// <summary>An inclusive range of bytes; empty if the last is below the first.</summary>
/// <param name="First">The first byte: 0 to 256.</param>
/// <param name="Last">The last byte: −1 to 255.</param>
internal readonly record struct ByteRange(int First, int Last)
{
    public bool IsEmpty => Last < First;

    public byte From => (byte)First;

    /// <summary>The last byte minus the first; undefined for an empty range.</summary>
    public byte Span => (byte)(Last - First);

    public bool Contains(byte value) => value >= First && value <= Last;
}
