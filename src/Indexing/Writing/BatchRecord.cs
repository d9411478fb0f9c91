using System.Runtime.InteropServices;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>A value that an entry of a batch adds to a field: a term or number by its ordinal, or no value.</summary>
internal readonly record struct BatchTouch(int Field, EntryGroup Group, int Ordinal)
{
    /// <summary>The ordinal of a field that exists in the entry without a term.</summary>
    public const int NoTerm = -1;
}

/// <summary>
/// Writes the record of an entry while it is in a batch: length of the key (varint), key, then the groups of an
/// <see cref="EntryRecord"/>, each head before its items, with words as ordinals in order of arrival.
/// <see cref="RecordEncoder"/> converts it to the stored form.
/// </summary>
internal static class BatchRecord
{
    /// <summary>Writes the group that begins at index <paramref name="first"/>; returns the index after it.</summary>
    public static int WriteGroup(
        ByteArena records, List<BatchTouch> touched, int first, IndexSchema schema, Func<int, BatchField> fields)
    {
        (int field, EntryGroup group, _) = touched[first];
        int end = first;
        int items = 0;
        for (; end < touched.Count && touched[end].Field == field && touched[end].Group == group; end++)
            items += touched[end].Ordinal == BatchTouch.NoTerm ? 0 : 1;

        bool isWords = group == EntryGroup.Terms && schema.Fields[field].Analysis == FieldAnalysis.FullText;
        if (items == 1 && !isWords && IsOnly(touched, first))
        {
            records.AddVarint(EntryRecord.GroupHead(field, EntryGroup.Column));
            return end;
        }

        records.AddVarint(EntryRecord.GroupHead(field, isWords ? EntryGroup.Words : group));
        if (group == EntryGroup.Null)
            return end;

        records.AddVarint(items);
        BatchField source = fields(field);
        Span<byte> number = stackalloc byte[CompactNumber.MaxBytes];
        for (int i = first; i < end; i++)
        {
            int ordinal = touched[i].Ordinal;
            if (ordinal == BatchTouch.NoTerm)
                continue;
            if (isWords)
            {
                records.AddVarint(ordinal); // the commit replaces it by the word's number
            }
            else if (group == EntryGroup.Numbers)
            {
                records.Add(number[..CompactNumber.Write(number, source.Numbers[ordinal])]);
            }
            else
            {
                records.AddVarint(source.Terms[ordinal].Length);
                records.Add(source.Terms[ordinal]);
            }
        }

        return end;
    }

    /// <summary>
    /// Whether a term or number is the only value of the field. It is then the sort value and stored only as such.
    /// </summary>
    private static bool IsOnly(List<BatchTouch> touched, int index)
    {
        if (touched[index].Group is not (EntryGroup.Terms or EntryGroup.Numbers))
            return false;
        ReadOnlySpan<BatchTouch> all = CollectionsMarshal.AsSpan(touched);
        int field = all[index].Field;
        for (int i = 0; i < all.Length; i++)
        {
            if (all[i].Field == field && i != index && all[i].Group is EntryGroup.Terms or EntryGroup.Numbers)
                return false;
        }

        return true;
    }
}
