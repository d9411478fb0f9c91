using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Format;

/// <summary>The header of a page, read and written in place; see <see cref="PageLayout"/>.</summary>
internal readonly ref struct Page(Span<byte> bytes)
{
    public Span<byte> Bytes { get; } = bytes;

    public long Number
    {
        get => MemoryMarshal.Read<long>(Bytes);
        set => MemoryMarshal.Write(Bytes, value);
    }

    public long Birth
    {
        get => MemoryMarshal.Read<long>(Bytes[PageLayout.BirthOffset..]);
        set => MemoryMarshal.Write(Bytes[PageLayout.BirthOffset..], value);
    }

    public uint TreeId
    {
        get => MemoryMarshal.Read<uint>(Bytes[PageLayout.TreeIdOffset..]);
        set => MemoryMarshal.Write(Bytes[PageLayout.TreeIdOffset..], value);
    }

    public PageType Type
    {
        get => (PageType)Bytes[PageLayout.TypeOffset];
        set => Bytes[PageLayout.TypeOffset] = (byte)value;
    }

    public int Level
    {
        get => Bytes[PageLayout.LevelOffset];
        set
        {
            Debug.Assert((uint)value <= byte.MaxValue, "the level has one byte");
            Bytes[PageLayout.LevelOffset] = (byte)value;
        }
    }

    public int Count
    {
        get => ReadUInt16(PageLayout.CountOffset);
        set => WriteUInt16(PageLayout.CountOffset, value);
    }

    public int HeapStart
    {
        get => ReadUInt16(PageLayout.HeapStartOffset);
        set => WriteUInt16(PageLayout.HeapStartOffset, value);
    }

    public int Garbage
    {
        get => ReadUInt16(PageLayout.GarbageOffset);
        set => WriteUInt16(PageLayout.GarbageOffset, value);
    }

    public int PrefixOffset
    {
        get => ReadUInt16(PageLayout.PrefixOffsetOffset);
        set => WriteUInt16(PageLayout.PrefixOffsetOffset, value);
    }

    public int PrefixLength
    {
        get => ReadUInt16(PageLayout.PrefixLengthOffset);
        set => WriteUInt16(PageLayout.PrefixLengthOffset, value);
    }

    public int ValueLength
    {
        get => BinaryPrimitives.ReadInt32LittleEndian(Bytes[PageLayout.ValueLengthOffset..]);
        set => BinaryPrimitives.WriteInt32LittleEndian(Bytes[PageLayout.ValueLengthOffset..], value);
    }

    public uint Checksum
    {
        get => BinaryPrimitives.ReadUInt32LittleEndian(Bytes[PageLayout.ChecksumOffset..]);
        set => BinaryPrimitives.WriteUInt32LittleEndian(Bytes[PageLayout.ChecksumOffset..], value);
    }

    public UInt128 Tag
    {
        get => BinaryPrimitives.ReadUInt128LittleEndian(Bytes[PageLayout.TagOffset..]);
        set => BinaryPrimitives.WriteUInt128LittleEndian(Bytes[PageLayout.TagOffset..], value);
    }

    public ulong Incarnation
    {
        get => BinaryPrimitives.ReadUInt64LittleEndian(Bytes[PageLayout.IncarnationOffset..]);
        set => BinaryPrimitives.WriteUInt64LittleEndian(Bytes[PageLayout.IncarnationOffset..], value);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int ReadUInt16(int offset) => MemoryMarshal.Read<ushort>(Bytes[offset..]);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt16(int offset, int value)
    {
        Debug.Assert((uint)value <= ushort.MaxValue, "the number has two bytes");
        MemoryMarshal.Write(Bytes[offset..], (ushort)value);
    }

    /// <summary>Computes the checksum of bytes.</summary>
    public static uint ComputeChecksum(ReadOnlySpan<byte> bytes)
    {
        uint crc = Crc32C.Append(uint.MaxValue, bytes[..PageLayout.ChecksumOffset]);
        crc = BitOperations.Crc32C(crc, 0u);
        return ~Crc32C.Append(crc, bytes[(PageLayout.ChecksumOffset + sizeof(uint))..]);
    }

    /// <summary>Computes the checksum of a header and content stored separately.</summary>
    public static uint ComputeChecksum(ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest)
    {
        uint crc = Crc32C.Append(uint.MaxValue, head[..PageLayout.ChecksumOffset]);
        crc = BitOperations.Crc32C(crc, 0u);
        crc = Crc32C.Append(crc, head[(PageLayout.ChecksumOffset + sizeof(uint))..]);
        return ~Crc32C.Append(crc, rest);
    }
}
