using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the first hits of an order without looking at the others: walks the dictionary of the first sort key in order
/// and asks the filter about each entry. Entries of equal value are a group, ordered by the other keys.
/// </summary>
/// <remarks>
/// Possible only where an entry stands in the dictionary once and at its sort value: see <see cref="TryOpen"/>.
/// </remarks>
internal sealed class OrderWalk
{
    private readonly QueryContext context;
    private readonly FilterProbe filter;
    private readonly SortKey sort;
    private readonly KeyPart[] parts;
    private readonly string dictionary;
    private readonly Tree tree;
    private readonly long limit;
    private readonly List<long> found = [];
    private readonly List<long> group = [];
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];
    private readonly KeyBuffer key = new();

    private OrderWalk(QueryContext context, FilterProbe filter, SortKey sort, KeyPart[] parts, string dictionary, Tree tree, long limit)
    {
        this.context = context;
        this.filter = filter;
        this.sort = sort;
        this.parts = parts;
        this.dictionary = dictionary;
        this.tree = tree;
        this.limit = limit;
    }

    private bool IsFull => found.Count >= limit;

    /// <summary>
    /// Opens the walk if the order allows it and it is cheaper than sorting all <paramref name="total"/> hits. It does
    /// not allow it where entries ever had several values (only the first is the sort value) or, for numbers, where
    /// texts were among them (they count as null there).
    /// </summary>
    public static OrderWalk? TryOpen(QueryContext context, FilterProbe filter, SearchRequest request, KeyPart[] parts, long total, long limit)
    {
        SortKey first = request.Sort[0];
        if (request.OrderHint == OrderHint.Sort || first.Kind is not (SortKind.Text or SortKind.Long or SortKind.Double))
            return null;

        int field = context.View.Field(first.Field);
        FieldStatistics statistics = context.View.Statistics(field);
        bool byText = first.Kind == SortKind.Text;
        string dictionary = byText ? TreeNames.Terms(field) : TreeNames.Numbers(field);
        if (statistics.EverHadSeveralValues || (!byText && statistics.EverHadTextValue) || context.View.Tree(dictionary) is not { } tree)
            return null;

        return request.OrderHint == OrderHint.Walk || IsCheaper(context.View.State.EntryCount, tree.Count, total, Math.Min(limit, total))
            ? new OrderWalk(context, filter, first, parts, dictionary, tree, Math.Min(limit, total))
            : null;
    }

    /// <summary>Ids of the first hits in order.</summary>
    public List<long> Run()
    {
        bool nullsFirst = sort.NullsFirst ?? !sort.Descending;
        if (nullsFirst)
            TakeNulls();
        if (!IsFull)
            TakeValues();
        if (!nullsFirst && !IsFull)
            TakeNulls();
        return found;
    }

    /// <summary>
    /// Compares entries visited: a walk meets a hit every N / total entries, and at least one whole group; a sort reads the
    /// value of every hit, and compares those it keeps log₂ times. A probe costs about twice the reading of a value.
    /// </summary>
    private static bool IsCheaper(long entries, long values, long total, long wanted)
    {
        if (total == 0)
            return false;

        double visited = ((double)wanted * entries / total) + ((double)entries / Math.Max(1, values));
        double sorted = total + (0.5 * wanted * Math.Log2(wanted + 1));
        return 2 * visited < sorted;
    }

    private void TakeValues()
    {
        using Cursor cursor = tree.OpenCursor();
        Span<byte> last = stackalloc byte[NumberKey.Bytes];
        bool hasLast = false;
        int steps = 0;
        for (bool valid = sort.Descending ? cursor.MoveLast() : cursor.MoveFirst(); valid; valid = sort.Descending ? cursor.MovePrevious() : cursor.MoveNext())
        {
            if ((++steps & 1023) == 0)
                context.CancellationToken.ThrowIfCancellationRequested();
            if (!hasLast || sort.Kind == SortKind.Text || !IsSameNumber(last, cursor.Key))
            {
                EndGroup();
                if (IsFull)
                    return;
                if (sort.Kind != SortKind.Text)
                    cursor.Key.CopyTo(last);
                hasLast = true;
            }

            Take(new TermPayload(cursor.Value));
        }

        EndGroup();
    }

    /// <summary>Whether two different keys compare equal in this order: 1.2 and 1.7 as longs, 2^53 and 2^53 + 1 as doubles.</summary>
    private bool IsSameNumber(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right) => sort.Kind == SortKind.Double
        ? left[..8].SequenceEqual(right[..8])
        : NumberKey.ToSaturatedLong(left) == NumberKey.ToSaturatedLong(right);

    private void Take(TermPayload payload)
    {
        switch (payload.Kind)
        {
            case PostingKind.Flat:
                FlatPostings flat = payload.Flat;
                while (flat.MoveNext(out Posting posting))
                {
                    if (filter.Contains(posting.EntryId))
                        group.Add(posting.EntryId);
                }

                break;
            default:
                TakeLong(context.View.Postings(dictionary)!, payload.ListId); // a dictionary with a long list has its postings tree
                break;
        }
    }

    private void TakeLong(Tree postings, long listId)
    {
        using var list = new PostingCursor(postings, listId);
        WindowSet set = context.Rent();
        for (long window = list.Next(0); window != Operator.End; window = list.Next(window + 1))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            if (list.TryGet(window, out PostingWindow mine))
            {
                set.Set(mine);
                TakeWindow(window, set);
            }

            // Without other keys a group is in id order, so its first entries are enough.
            if (parts.Length == 1 && found.Count + group.Count >= limit && sort.Kind == SortKind.Text)
                break;
        }

        context.Return(set);
    }

    private void TakeWindow(long window, WindowSet set)
    {
        filter.And(window, set);
        int count = set.CopyTo(offsets);
        for (int i = 0; i < count; i++)
            group.Add((window << PostingWindow.SizeBits) + offsets[i]);
    }

    /// <summary>Hits without a sort value: the field is missing, or has nothing but a null.</summary>
    private void TakeNulls()
    {
        Operator nulls = new QueryCompiler(context, isScored: false).Compile(new TermQuery(sort.Field, FieldValue.Null));
        WindowSet set = context.Rent();
        for (long window = nulls.Next(0); window != Operator.End; window = nulls.Next(window + 1))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            nulls.Fill(window, set);
            TakeWindow(window, set);
        }

        context.Return(set);

        // An array with a null and a value is among the nulls and has a value.
        group.RemoveAll(HasValue);
        EndGroup();
    }

    private bool HasValue(long id)
    {
        key.Clear();
        parts[0].Append(id, 0, key);
        return key.Written[0] == KeyPart.ValueRank;
    }

    private void EndGroup()
    {
        if (group.Count > 1)
        {
            var sorter = new HitSorter(parts[1..], limit - found.Count);
            foreach (long id in group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
                found.Add(hit.Id);
        }
        else
        {
            found.AddRange(group);
        }

        group.Clear();
    }
}
