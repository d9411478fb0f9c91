using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Searching;

/// <summary>Looks at what an index holds, for people who wonder why something is found or not.</summary>
internal static class TermView
{
    public static IReadOnlyList<IndexTerm> Terms(IndexView view, int field, string? after, int count)
    {
        var terms = new List<IndexTerm>();
        if (view.Dictionary(TreeNames.Terms(field)) is not { } tree || count == 0)
            return terms;

        byte[] from = Encoding.UTF8.GetBytes(after ?? "");
        using TermCursor cursor = tree.OpenCursor();
        bool valid = cursor.Seek(from);
        if (valid && after is not null && cursor.Key.SequenceEqual(from))
            valid = cursor.MoveNext();
        for (; valid && terms.Count < count; valid = cursor.MoveNext())
            terms.Add(new IndexTerm(TermText.Of(cursor.Key, isNumber: false), new TermPayload(cursor.Value).EntryCount));
        return terms;
    }

    public static IReadOnlyList<IndexEntryField>? Entry(IndexView view, ReadOnlySpan<byte> key)
    {
        if (view.Dictionary(TreeNames.Keys) is not { } keys || !keys.TryGet(key, out ReadOnlySpan<byte> id)
            || !view.Entries.TryGet(EntryKey.Read(id), out EntryRecord record))
        {
            return null;
        }

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
