using System.Diagnostics;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Sorting;

/// <summary>Opens the key parts of an order over one view.</summary>
internal static class SortPlan
{
    public static bool NeedsScores(IReadOnlyList<SortKey> sort)
    {
        for (int i = 0; i < sort.Count; i++)
        {
            if (sort[i].Kind == SortKind.Score)
                return true;
        }

        return false;
    }

    /// <summary>Maximum number of keys in an order: each is read and kept for every hit that is compared.</summary>
    public const int MaxKeys = 64;

    /// <summary>
    /// Checks what does not depend on the index, before anything uses the keys: each has a custom order if, and only if, it is
    /// of that kind.
    /// </summary>
    /// <exception cref="IndexQueryException">There are too many keys, or a key is contradictory.</exception>
    public static void Check(IReadOnlyList<SortKey> sort)
    {
        if (sort.Count > MaxKeys)
            throw new IndexQueryException($"An order has at most {MaxKeys} keys; {sort.Count:N0} are given.");
        for (int i = 0; i < sort.Count; i++)
        {
            SortKey key = sort[i];
            if ((key.Kind == SortKind.Given) != (key.Given is not null))
                throw new IndexQueryException(
                    $"The values of SortKey.Given are of the kind {SortKind.Given}, but the sort key is of {key.Kind}.");
            if (key.Kind == SortKind.Custom && key.Custom is null)
                throw new IndexQueryException(
                    "A custom order must be given with the sort key: SortKey.Custom is null.");
            if (key.Kind != SortKind.Custom && key.Custom is not null)
                throw new IndexQueryException(
                    $"SortKey.Custom is the order of the kind {SortKind.Custom}, but the sort key is of the kind {key.Kind}.");
        }
    }

    /// <summary>Opens the parts of an order that has been checked.</summary>
    /// <exception cref="IndexQueryException">A field is full text or spatial and has no sort values.</exception>
    public static KeyPart[] Open(QueryContext context, IReadOnlyList<SortKey> sort)
    {
        var parts = new KeyPart[sort.Count];
        for (int i = 0; i < parts.Length; i++)
        {
            Debug.Assert((sort[i].Kind == SortKind.Custom) == (sort[i].Custom is not null), "the keys are checked");
            parts[i] = sort[i].Kind switch
            {
                SortKind.Score => new ScoreKeyPart(sort[i].Descending),
                SortKind.Random => new RandomKeyPart(sort[i].Seed),
                SortKind.Key or SortKind.AlphaNumericKey => new EntryKeyPart(context, sort[i]),
                SortKind.Given => new GivenKeyPart(sort[i]),
                SortKind.Distance => new DistanceKeyPart(
                    SpatialCompiler.Reader(context, SpatialCompiler.SpatialField(context.View, sort[i].Field)), sort[i]),
                _ => new ColumnKeyPart(context, Column(context.View, sort[i].Field), sort[i]),
            };
        }

        return parts;
    }

    /// <summary>Returns the index of a field, which must have sort values.</summary>
    private static int Column(IndexView view, string name)
    {
        int field = view.Field(name);
        if (view.Schema.Fields[field].Analysis == FieldAnalysis.Spatial)
            throw new IndexQueryException(
                $"The field '{name}' is spatial: its places have no order. Sort by the distance from a place.");
        return view.Schema.Fields[field].Analysis != FieldAnalysis.FullText
            ? field
            : throw new IndexQueryException(
                $"The field '{name}' is full text: its words have no order for an entry. Sort by a field with the whole value.");
    }
}
