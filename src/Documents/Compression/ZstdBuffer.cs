namespace Treepie.Compression;

/// <summary>An input or output buffer in the library's format.</summary>
internal unsafe struct ZstdBuffer(byte* start, nuint length)
{
    public byte* Start = start;
    public nuint Length = length;
    public nuint Position;
}
