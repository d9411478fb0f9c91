using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Automata;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>Finds entries in the dictionary of keys.</summary>
internal static class KeyLookup
{
    /// <summary>The byte that ends the text of a key, see <see cref="KeyQuery"/>.</summary>
    private const byte EndOfText = 0xFF;

    /// <summary>Returns the ids of the entries with the keys, ascending.</summary>
    public static long[] Find(QueryContext context, KeyQuery query)
    {
        var ids = new List<long>();
        for (int i = 0; i < query.Keys.Count; i++)
        {
            if ((i & 1023) == 0)
                context.Check();
            byte[] key = Encoding.UTF8.GetBytes(query.Keys[i]);
            if (!query.IsPrefix && context.View.Find(key) is >= 0 and long id)
                ids.Add(id);
            AddAll(context, query.IsPrefix ? key : [.. key, EndOfText], ids);
        }

        return Sorted(ids);
    }

    /// <summary>Returns the ids of the entries with keys in a range, ascending.</summary>
    public static long[] Find(QueryContext context, KeyRangeQuery query)
    {
        var ids = new List<long>();
        byte[] low = Encoding.UTF8.GetBytes(query.Low ?? "");
        byte[]? high = query.High is null ? null : Encoding.UTF8.GetBytes(query.High);
        if (context.View.Dictionary(TreeNames.Keys) is not { } keys)
            return [];

        using TermCursor cursor = keys.OpenCursor();
        for (bool isThere = low.Length == 0 ? cursor.MoveFirst() : cursor.Seek(low); isThere; isThere = cursor.MoveNext())
        {
            Count(context);
            if (high is not null && cursor.Key.SequenceCompareTo(high) > 0)
                break;
            if (IsIn(TextOf(cursor.Key), query, low, high))
                ids.Add(EntryKey.Read(cursor.Value));
        }

        // Further entries of a text stand behind the longer texts that begin with it: a, ab, a(0xFF)1.
        int longest = Math.Min(high?.Length ?? 0, IndexBatch.MaxKeyBytes - 1);
        for (int length = 1; length <= longest; length++)
        {
            context.Check();
            if (IsIn(high.AsSpan(0, length), query, low, high))
                AddAll(context, [.. high.AsSpan(0, length), EndOfText], ids);
        }

        return Sorted(ids);
    }

    /// <summary>Returns the ids of the entries with keys that match a pattern, ascending.</summary>
    public static long[] Find(QueryContext context, KeyPatternQuery query)
    {
        byte[] end = Encoding.UTF8.GetBytes(query.Pattern);
        TermAutomaton? expression = query.IsRegex ? RegexPattern.Compile(query.Pattern, Folded) : null;
        if (context.View.Dictionary(TreeNames.Keys) is not { } keys)
            return [];

        var ids = new List<long>();
        long read = 0;
        using TermCursor cursor = keys.OpenCursor();
        for (bool isThere = cursor.MoveFirst(); isThere; isThere = cursor.MoveNext())
        {
            Count(context);
            if (++read > context.MaxTermsRead)
                throw new IndexQueryException(
                    $"The pattern of ids would read more than {context.MaxTermsRead:N0} ids, which is the limit. Give the index "
                        + "a field with the values to query.");
            ReadOnlySpan<byte> text = TextOf(cursor.Key);
            if (expression is null ? text.EndsWith(end) : expression.Matches(text))
                ids.Add(EntryKey.Read(cursor.Value));
        }

        return Sorted(ids);
    }

    private static string Folded(string text) =>
        Encoding.UTF8.GetString(KeywordAnalyzer.Fold(Encoding.UTF8.GetBytes(text), new TokenBuffer()));

    private static bool IsIn(ReadOnlySpan<byte> text, KeyRangeQuery query, byte[] low, byte[]? high)
    {
        int fromLow = text.SequenceCompareTo(low), fromHigh = high is null ? -1 : text.SequenceCompareTo(high);
        return (fromLow > 0 || (fromLow == 0 && (query.LowInclusive || query.Low is null)))
            && (fromHigh < 0 || (fromHigh == 0 && query.HighInclusive));
    }

    /// <summary>Returns the part of a key that is text.</summary>
    public static ReadOnlySpan<byte> TextOf(ReadOnlySpan<byte> key) =>
        key.IndexOf(EndOfText) is >= 0 and int end ? key[..end] : key;

    private static void AddAll(QueryContext context, byte[] prefix, List<long> ids)
    {
        if (context.View.Dictionary(TreeNames.Keys) is not { } keys)
            return;
        using TermCursor cursor = keys.OpenCursor();
        for (bool isThere = cursor.Seek(prefix); isThere && cursor.Key.StartsWith(prefix); isThere = cursor.MoveNext())
        {
            Count(context);
            ids.Add(EntryKey.Read(cursor.Value));
        }
    }

    private static void Count(QueryContext context)
    {
        if ((++context.Meter.Count.TermsScanned & 1023) == 0)
            context.Check();
    }

    private static long[] Sorted(List<long> ids)
    {
        ids.Sort();
        int kept = 0;
        for (int i = 0; i < ids.Count; i++)
            if (i == 0 || ids[i] != ids[i - 1])
                ids[kept++] = ids[i];
        return [.. System.Runtime.InteropServices.CollectionsMarshal.AsSpan(ids)[..kept]];
    }
}
