using System.Text;

namespace Treepie.Indexing.Highlighting;

/// <summary>A found word in a text: from, to (in characters), and by which condition.</summary>
internal readonly record struct Mark(int Start, int End, int Number);

/// <summary>A piece of a text with found words in it.</summary>
internal sealed record Fragment(string Text, int Start, int End, IReadOnlyList<Mark> Marks)
{
    /// <summary>Matches of different conditions are worth more than many of one.</summary>
    public int Worth => (Marks.Select(mark => mark.Number).Distinct().Count() * 1_000) + Math.Min(Marks.Count, 999);

    /// <summary>
    /// Splits a text into fragments around its marks, each as long as allowed, at the ends of words. A fragment begins after the
    /// marks of the one before, which would stand in it unmarked.
    /// </summary>
    public static IEnumerable<Fragment> Cut(string text, List<Mark> marks, int length)
    {
        for (int first = 0; first < marks.Count;)
        {
            int last = first;
            while (last + 1 < marks.Count && marks[last + 1].End - marks[first].Start <= length)
                last++;

            int spare = Math.Max(0, length - (marks[last].End - marks[first].Start));
            int least = first == 0 ? 0 : marks[first - 1].End;
            int start = Math.Max(least, Math.Min(marks[first].Start - (spare / 2), text.Length - length));
            start = Math.Min(start, marks[first].Start);
            int end = Math.Max(marks[last].End, Math.Min(text.Length, start + length));
            yield return new Fragment(
                text, AfterSpace(text, start, marks[first].Start), BeforeSpace(text, end, marks[last].End),
                marks.GetRange(first, last - first + 1));
            first = last + 1;
        }
    }

    /// <summary>The text with its marks between tags.</summary>
    public string Marked(HighlightOptions options)
    {
        var marked = new StringBuilder();
        int place = Start;
        foreach (Mark mark in Marks)
        {
            marked.Append(Text, place, mark.Start - place)
                .Append(TagOf(options.PreTags, mark.Number))
                .Append(Text, mark.Start, mark.End - mark.Start)
                .Append(TagOf(options.PostTags, mark.Number));
            place = mark.End;
        }

        return marked.Append(Text, place, End - place).ToString();
    }

    private static string TagOf(IReadOnlyList<string> tags, int number) => tags.Count == 0 ? "" : tags[number % tags.Count];

    private static int AfterSpace(string text, int start, int limit)
    {
        if (start == 0)
            return 0;
        for (int place = start; place < limit; place++)
        {
            if (char.IsWhiteSpace(text[place]))
                return place + 1;
        }

        return limit;
    }

    private static int BeforeSpace(string text, int end, int limit)
    {
        if (end == text.Length)
            return end;
        for (int place = end; place > limit; place--)
        {
            if (char.IsWhiteSpace(text[place]))
                return place;
        }

        return limit;
    }
}
