using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Searching;

/// <summary>Looks at what an index holds, for people who wonder why something is found or not.</summary>
internal static class TermView
{
    public static IReadOnlyList<IndexTerm> Terms(IndexView view, int field, string? after, int count)
    {
        var terms = new List<IndexTerm>();
        if (count == 0)
            return terms;

        using FieldTexts? texts = FieldTexts.Open(view, field);
        for (bool valid = Seek(texts, Encoding.UTF8.GetBytes(after ?? ""), after); valid && terms.Count < count && !TermForm.IsNoText(texts!.Key); valid = texts.MoveNext()) // valid, so it is there
            terms.Add(new IndexTerm(TermText.Of(texts.Key, isNumber: false), texts.Payload.EntryCount));
        return terms;
    }

    /// <summary>Terms of an index and the changes it has not seen, as one index of both would have them.</summary>
    public static IReadOnlyList<IndexTerm> Terms(CombinedIndex combined, int field, string? after, int count)
    {
        var terms = new List<IndexTerm>();
        using FieldTexts? first = FieldTexts.Open(combined.Main.View, field), second = FieldTexts.Open(combined.Tail.View, field);
        byte[] from = Encoding.UTF8.GetBytes(after ?? "");
        bool hasFirst = Seek(first, from, after), hasSecond = Seek(second, from, after);
        while ((hasFirst || hasSecond) && terms.Count < count)
        {
            int order = !hasSecond ? -1 : !hasFirst ? 1 : first!.Key.SequenceCompareTo(second!.Key); // both are there, as they have a term
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

    /// <summary>Goes to the first term behind one; false if there is none.</summary>
    private static bool Seek(FieldTexts? cursor, byte[] from, string? after)
    {
        bool valid = cursor is not null && cursor.Seek(from);
        return valid && after is not null && cursor!.Key.SequenceEqual(from) ? cursor.MoveNext() : valid; // valid, so it is there
    }

    public static IReadOnlyList<IndexEntryField>? Entry(IndexView view, ReadOnlySpan<byte> key)
    {
        long id = view.Find(key);
        if (id < 0 || !view.Entries.TryGet(id, out EntryRecord record))
            return null;

        var terms = new List<string>[view.Schema.Fields.Count];
        var numbers = new List<double>[terms.Length];
        bool[] nulls = new bool[terms.Length];
        Span<byte> text = stackalloc byte[32];
        while (record.MoveNextGroup())
        {
            (terms[record.Field], numbers[record.Field]) = (terms[record.Field] ?? [], numbers[record.Field] ?? []);
            nulls[record.Field] |= record.Group == EntryGroup.Null;
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
            {
                if (record.Group != EntryGroup.Numbers)
                {
                    if (!TermForm.IsNoText(item))
                        terms[record.Field].Add(TermText.Of(item, isNumber: false));
                    continue;
                }

                numbers[record.Field].Add(NumberKey.ToDouble(item));
                terms[record.Field].Add(Encoding.ASCII.GetString(text[..NumberKey.Format(item, text)]));
            }
        }

        var fields = new List<IndexEntryField>();
        for (int i = 0; i < terms.Length; i++)
        {
            if (terms[i] is not null)
                fields.Add(new IndexEntryField(view.Schema.Fields[i].Name, terms[i], numbers[i], nulls[i]));
        }

        return fields;
    }
}
