using System.Buffers.Binary;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Totals of one field. Key: the field, 4 bytes big-endian.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       8     full text: entries with at least one term
/// 8       8     full text: terms of all entries, counting repetitions
/// 16      1     bit 0: an entry has had several values, so the sort value of an entry may not be its only one;
///               bit 1: a sort value has been a text; bit 2: each entry so far has had one number that says all about its
///               value, or null, or nothing
/// 17      8     full text: the average length on which impacts are based, a double, little-endian; 0 if not known yet
/// </code>
/// </summary>
internal sealed class FieldStatistics
{
    private const int Bytes = 25;

    public long EntriesWithTerms { get; set; }

    public long TotalTerms { get; set; }

    public double ReferenceLength { get; set; }

    public bool EverHadSeveralValues { get; set; }

    public bool EverHadTextValue { get; set; }

    /// <summary>
    /// Whether entries have equal values exactly if they have the same number: each entry so far has had one number that was not
    /// reported as inexact, or null, or nothing. False for fields that an earlier version has written.
    /// </summary>
    public bool AreNumbersExact { get; set; }

    public static FieldStatistics Read(Tree? index, int field)
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, field);
        if (index is null || !index.TryGet(key, out ReadOnlySpan<byte> value))
            return new FieldStatistics { AreNumbersExact = true };

        value = RecordReader.Take(ref value, Bytes);
        return new FieldStatistics
        {
            EntriesWithTerms = BinaryPrimitives.ReadInt64LittleEndian(value),
            TotalTerms = BinaryPrimitives.ReadInt64LittleEndian(value[8..]),
            ReferenceLength = BinaryPrimitives.ReadDoubleLittleEndian(value[17..]),
            EverHadSeveralValues = (value[16] & 1) != 0,
            EverHadTextValue = (value[16] & 2) != 0,
            AreNumbersExact = (value[16] & 4) != 0,
        };
    }

    public void Write(Tree index, int field)
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, field);
        Span<byte> value = stackalloc byte[Bytes];
        BinaryPrimitives.WriteInt64LittleEndian(value, EntriesWithTerms);
        BinaryPrimitives.WriteInt64LittleEndian(value[8..], TotalTerms);
        value[16] = (byte)((EverHadSeveralValues ? 1 : 0) | (EverHadTextValue ? 2 : 0) | (AreNumbersExact ? 4 : 0));
        BinaryPrimitives.WriteDoubleLittleEndian(value[17..], ReferenceLength);
        index.Put(key, value);
    }
}
