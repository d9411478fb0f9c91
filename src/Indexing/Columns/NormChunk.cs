using System.Buffers.Binary;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Lengths (in terms) of a full-text field for up to 256 neighbouring entries, read in place. Key in the tree: chunk
/// number (entry id / 256), 8 bytes big-endian.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     w, bytes of a length: 1, 2 or 4
/// 1       w·n   lengths; entries behind the last have none (0)
/// </code>
/// </summary>
internal readonly ref struct NormChunk(ReadOnlySpan<byte> bytes)
{
    public const int EntryBits = 8;
    public const int Entries = 1 << EntryBits;

    private readonly ReadOnlySpan<byte> bytes = bytes;

    public int Count => bytes.IsEmpty ? 0 : (bytes.Length - 1) / bytes[0];

    public int this[int slot]
    {
        get
        {
            if (slot >= Count)
                return 0;

            ReadOnlySpan<byte> value = bytes[(1 + (slot * bytes[0]))..];
            return bytes[0] switch
            {
                1 => value[0],
                2 => BinaryPrimitives.ReadUInt16LittleEndian(value),
                _ => BinaryPrimitives.ReadInt32LittleEndian(value),
            };
        }
    }

    /// <summary>The lengths as bytes, where they are kept as such; empty where they are longer.</summary>
    public ReadOnlySpan<byte> Bytes => !bytes.IsEmpty && bytes[0] == 1 ? bytes[1..] : default;
}
