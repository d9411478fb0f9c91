using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// A key part from the sort values of a field, given by its index. A value that is invalid for the kind (such as a text as
/// number) counts as null.
/// </summary>
internal sealed class ColumnKeyPart(QueryContext context, int column, SortKey sort) : KeyPart
{
    /// <summary>Number of text bytes among the first eight bytes of a key; the other byte is the rank.</summary>
    private const int TextBytes = 7;

    private SortColumn? _opened;
    private readonly byte _nullRank = (sort.NullsFirst ?? !sort.Descending) ? NullsFirstRank : NullsLastRank;

    /// <summary>Opened on first use: a walk in the order of the only sort key reads no values.</summary>
    private SortColumn Column => _opened ??= context.OpenSortColumn(column);

    public override void Append(long id, float score, KeyBuffer key)
    {
        SortChunk chunk = Column.Read(id >> SortChunk.EntryBits);
        int slot = (int)(id & (SortChunk.Entries - 1));
        SortTag tag = chunk.TagAt(slot);
        bool isNumeric = sort.Kind is SortKind.Long or SortKind.Double;
        if (tag == SortTag.None || (isNumeric && tag != SortTag.Number))
        {
            key.Append(_nullRank);
            return;
        }

        if (sort.Custom is { } custom)
        {
            AppendCustom(custom, chunk, slot, tag, key);
            return;
        }

        key.Append(ValueRank);
        int start = key.Length;
        if (sort.Kind == SortKind.Double)
            key.Append(chunk.HeadAt(slot));
        else if (sort.Kind == SortKind.Long)
            key.Append((ulong)chunk.LongAt(slot) ^ (1UL << 63));
        else
            AppendText(chunk, slot, key);
        if (sort.Descending)
            key.Flip(start);
    }

    /// <inheritdoc/>
    public override ulong Least(long id)
    {
        SortChunk chunk = Column.Read(id >> SortChunk.EntryBits);
        int slot = (int)(id & (SortChunk.Entries - 1));
        const int RankShift = 56;
        const ulong Rank = (ulong)ValueRank << RankShift;
        if (sort.Kind == SortKind.Text && chunk.TryTextHead(slot, out ulong head, out int length))
            return Rank | LeastOfText(head >> 8, Math.Min(TextBytes, length));

        SortTag tag = chunk.TagAt(slot);
        if (tag == SortTag.None || (sort.Kind is SortKind.Long or SortKind.Double && tag != SortTag.Number))
            return (ulong)_nullRank << RankShift;

        if (sort.Custom is not null)
            return 0;

        switch (sort.Kind)
        {
            case SortKind.Double:
                ulong number = chunk.HeadAt(slot);
                return Rank | (sort.Descending ? ~number : number) >> 8;
            case SortKind.Long:
                ulong whole = (ulong)chunk.LongAt(slot) ^ (1UL << 63);
                return Rank | (sort.Descending ? ~whole : whole) >> 8;
            default:
                return Rank;
        }
    }

    /// <summary>
    /// The first seven bytes of a text in the low bytes of an integer, as a lower bound of the key. From the first 0 byte,
    /// which the key escapes, and after the end of a shorter text, the bound is as small as possible.
    /// </summary>
    private ulong LeastOfText(ulong head, int length)
    {
        const ulong Ones = 0x0001_0101_0101_0101, Tops = Ones << 7, All = (1UL << (8 * TextBytes)) - 1;
        if (length == TextBytes && ((head - Ones) & ~head & Tops) == 0)
            return sort.Descending ? ~head & All : head; // no byte is 0

        ulong known = 0;
        for (int i = 0; i < length; i++)
        {
            int shift = 8 * (TextBytes - 1 - i);
            ulong value = (head >> shift) & 0xFF;
            if (value == 0)
                break;
            known |= (sort.Descending ? 0xFF - value : value) << shift;
        }

        return known;
    }

    private void AppendCustom(ICustomOrder custom, SortChunk chunk, int slot, SortTag tag, KeyBuffer key)
    {
        Span<byte> scratch = stackalloc byte[SortText.MaxBytes];
        Span<byte> written = stackalloc byte[ICustomOrder.MaxKeyBytes];
        double? number = tag == SortTag.Number ? chunk.DoubleAt(slot) : null;
        int length = custom.WriteKey(new SortValue(number, WholeText(chunk, slot, scratch)), written);
        if (length < 0)
        {
            key.Append(_nullRank);
            return;
        }

        key.Append(ValueRank);
        int start = key.Length;
        key.AppendText(written[..length]);
        key.EndText();
        if (sort.Descending)
            key.Flip(start);
    }

    private void AppendText(SortChunk chunk, int slot, KeyBuffer key)
    {
        Span<byte> scratch = stackalloc byte[SortText.MaxBytes];
        ReadOnlySpan<byte> text = WholeText(chunk, slot, scratch);
        if (sort.Kind == SortKind.AlphaNumeric)
            key.AppendAlphaNumeric(text);
        else
            key.AppendText(text);
        key.EndText();
    }

    private ReadOnlySpan<byte> WholeText(SortChunk chunk, int slot, Span<byte> scratch) =>
        context.View.WholeText(column, scratch[..SortText.Copy(chunk, slot, scratch)]);
}
