using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Phrases;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Searching;

/// <summary>Lists terms and entries of an index, for diagnosing why something is found or not.</summary>
internal static class TermView
{
    public static IReadOnlyList<IndexTerm> Terms(IndexView view, int field, string? after, int count)
    {
        var terms = new List<IndexTerm>();
        if (count == 0)
            return terms;

        using FieldTexts? texts = FieldTexts.Open(view, field);
        // texts is not null if valid
        for (bool valid = Seek(texts, Encoding.UTF8.GetBytes(after ?? ""), after);
             valid && terms.Count < count && !TermForm.IsNoText(texts!.Key);
             valid = texts.MoveNext())
            terms.Add(new IndexTerm(TermText.Of(texts.Key, isNumber: false), texts.Payload.EntryCount));
        return terms;
    }

    /// <summary>Lists the terms of an index combined with its changes, as a single index would have them.</summary>
    public static IReadOnlyList<IndexTerm> Terms(CombinedIndex combined, int field, string? after, int count)
    {
        var terms = new List<IndexTerm>();
        using FieldTexts? first = FieldTexts.Open(combined.Main.View, field), second = FieldTexts.Open(combined.Tail.View, field);
        byte[] from = Encoding.UTF8.GetBytes(after ?? "");
        bool hasFirst = Seek(first, from, after), hasSecond = Seek(second, from, after);
        while ((hasFirst || hasSecond) && terms.Count < count)
        {
            // a cursor that has a term is not null
            int order = !hasSecond ? -1 : !hasFirst ? 1 : first!.Key.SequenceCompareTo(second!.Key);
            ReadOnlySpan<byte> form = order <= 0 ? first!.Key : second!.Key;
            long having = combined.Statistics.EntriesWith(field, form);
            if (having > 0 && !TermForm.IsNoText(form))
                terms.Add(new IndexTerm(TermText.Of(form, isNumber: false), having));
            combined.Main.Check();
            hasFirst = order <= 0 ? first!.MoveNext() : hasFirst;
            hasSecond = order >= 0 ? second!.MoveNext() : hasSecond;
        }

        return terms;
    }

    /// <summary>Moves to the first term after the given one; false if there is none.</summary>
    private static bool Seek(FieldTexts? cursor, byte[] from, string? after)
    {
        bool valid = cursor is not null && cursor.Seek(from);
        return valid && after is not null && cursor!.Key.SequenceEqual(from) ? cursor.MoveNext() : valid; // not null if valid
    }

    /// <summary>Returns what an entry has in each field, or null if there is no entry with the key.</summary>
    public static IReadOnlyList<IndexEntryField>? Entry(IndexView view, ReadOnlySpan<byte> key) =>
        view.Find(key) is >= 0 and var id ? Entry(view, id) : null;

    /// <summary>Returns what an entry has in each field, or null if there is no entry with the id.</summary>
    public static IReadOnlyList<IndexEntryField>? Entry(IndexView view, long id)
    {
        if (!view.Entries.TryGet(id, out EntryRecord record))
            return null;

        var fields = new Held?[view.Schema.Fields.Count];
        Span<byte> text = stackalloc byte[32];
        while (record.MoveNextGroup())
        {
            Held held = fields[record.Field] ??= new Held();
            bool isFullText = view.Schema.Fields[record.Field].Analysis == FieldAnalysis.FullText;
            held.HasNull |= record.Group == EntryGroup.Null;
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
            {
                if (record.Group == EntryGroup.Numbers)
                {
                    held.Numbers.Add(NumberKey.ToDouble(item));
                    held.Terms.Add(Encoding.ASCII.GetString(text[..NumberKey.Format(item, text)]));
                }
                else if (!TermForm.IsNoText(item))
                {
                    held.Terms.Add(TermText.Of(item, isNumber: false));
                    if (isFullText)
                        held.Positions.Add(TermPositions.Of(view, TreeNames.Terms(record.Field), item, id));
                }
            }
        }

        var entry = new List<IndexEntryField>();
        for (int i = 0; i < fields.Length; i++)
        {
            if (fields[i] is not { } held)
                continue;
            FieldAnalysis analysis = view.Schema.Fields[i].Analysis;
            if (analysis == FieldAnalysis.FullText)
                held.OrderByPosition();
            entry.Add(new IndexEntryField(view.Schema.Fields[i].Name, held.Terms, held.Numbers, held.HasNull)
            {
                Positions = held.Positions,
                Places = analysis == FieldAnalysis.Spatial ? PlacesOf(view, i, id) : [],
                Vectors = analysis == FieldAnalysis.Vector
                    ? new VectorReader(view.Tree, i, view.Schema.Fields[i].Vector ?? new VectorFieldOptions()).Of(id)
                    : [],
            });
        }

        return entry;
    }

    private static List<string> PlacesOf(IndexView view, int field, long id)
    {
        var column = new ChunkCursor(view.Tree(TreeNames.Points(field)));
        return [.. new PlaceReader(column, view.Tree(TreeNames.Shapes(field))).All(id).Select(WktWriter.Write)];
    }

    /// <summary>What has been read of one field.</summary>
    private sealed class Held
    {
        public List<string> Terms { get; } = [];

        public List<double> Numbers { get; } = [];

        public List<int[]> Positions { get; } = [];

        public bool HasNull { get; set; }

        /// <summary>Sorts words as in the text, since the order of term ids depends on what was indexed before.</summary>
        public void OrderByPosition()
        {
            var words = Terms.Zip(Positions)
                .OrderBy(static word => word.Second is [int first, ..] ? first : int.MaxValue)
                .ThenBy(static word => word.First, StringComparer.Ordinal)
                .ToList();
            for (int i = 0; i < words.Count; i++)
                (Terms[i], Positions[i]) = words[i];
        }
    }
}
