using Treepie.Indexing.Columns;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Sorting;

/// <summary>A part from the sort values of a field. A value that has no meaning for the kind (a text as number) counts as null.</summary>
internal sealed class ColumnKeyPart(ChunkCursor column, SortKey sort) : KeyPart
{
    private readonly byte nullRank = (sort.NullsFirst ?? !sort.Descending) ? NullsFirstRank : NullsLastRank;

    public override void Append(long id, float score, KeyBuffer key)
    {
        var chunk = new SortChunk(column.Read(id >> SortChunk.EntryBits));
        int slot = (int)(id & (SortChunk.Entries - 1));
        SortTag tag = chunk.TagAt(slot);
        bool isNumeric = sort.Kind is SortKind.Long or SortKind.Double;
        if (tag == SortTag.None || (isNumeric && tag != SortTag.Number))
        {
            key.Append(nullRank);
            return;
        }

        key.Append(ValueRank);
        int start = key.Length;
        if (sort.Kind == SortKind.Double)
            key.Append(chunk.HeadAt(slot));
        else if (sort.Kind == SortKind.Long)
            key.Append((ulong)NumberKey.ToSaturatedLong(chunk.NumberAt(slot)) ^ (1UL << 63));
        else
            AppendText(chunk, slot, tag, key);
        if (sort.Descending)
            key.Flip(start);
    }

    private void AppendText(SortChunk chunk, int slot, SortTag tag, KeyBuffer key)
    {
        Span<byte> scratch = stackalloc byte[1024];
        scoped ReadOnlySpan<byte> text;
        if (tag == SortTag.Number)
        {
            text = scratch[..NumberKey.Format(chunk.NumberAt(slot), scratch)];
        }
        else
        {
            ReadOnlySpan<byte> head = chunk.TextHeadAt(slot);
            ReadOnlySpan<byte> rest = chunk.TextRestAt(slot);
            head.CopyTo(scratch);
            rest.CopyTo(scratch[head.Length..]);
            text = scratch[..(head.Length + rest.Length)];
        }

        if (sort.Kind == SortKind.AlphaNumeric)
            AppendAlphaNumeric(text, key);
        else
            key.AppendText(text);
        key.EndText();
    }

    /// <summary>
    /// Runs of digits compare as numbers: the digit 0, the count of significant digits (2 bytes), the digits. So a run
    /// stands among other characters where digits stand, and 9 before 10. Leading zeros do not count.
    /// </summary>
    private static void AppendAlphaNumeric(ReadOnlySpan<byte> text, KeyBuffer key)
    {
        while (!text.IsEmpty)
        {
            int digits = text.IndexOfAnyExceptInRange((byte)'0', (byte)'9');
            if (digits < 0)
                digits = text.Length;
            if (digits > 0)
            {
                ReadOnlySpan<byte> run = text[..digits].TrimStart((byte)'0');
                key.Append((byte)'0');
                key.Append((byte)(run.Length >> 8));
                key.Append((byte)run.Length);
                key.AppendText(run);
                text = text[digits..];
                continue;
            }

            int others = text.IndexOfAnyInRange((byte)'0', (byte)'9');
            if (others < 0)
                others = text.Length;
            key.AppendText(text[..others]);
            text = text[others..];
        }
    }
}
