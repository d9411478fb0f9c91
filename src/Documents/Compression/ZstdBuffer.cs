namespace Treepie.Compression;

/// <summary>A buffer as the library takes it, for both directions.</summary>
internal unsafe struct ZstdBuffer(byte* start, nuint length)
{
    public byte* Start = start;
    public nuint Length = length;
    public nuint Position;
}
