using Treepie.Indexing.Highlighting;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Highlighting;

/// <summary>What holds for the fragments of any text with any marks, whatever length is wanted.</summary>
public sealed class FragmentTests
{
    [Fact]
    public void Fragments_have_all_marks_once_and_end_at_words_within_their_length()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        int several = 0, whole = 0;
        for (int round = 0; round < 3_000; round++)
        {
            string text = Text(random, out List<Mark> words);
            List<Mark> marks = [.. words.Where(_ => random.Next(4) == 0)];
            int length = random.Next(3) == 0 ? random.Next(1, 12) : random.Next(10, 200);
            List<Fragment> fragments = [.. Fragment.Cut(text, marks, length)];
            string what = $"seed {seed}, round {round}: '{text}' in {length} characters";
            Assert.True(marks.SequenceEqual(fragments.SelectMany(fragment => fragment.Marks)), what);
            int before = 0;
            foreach (Fragment fragment in fragments)
            {
                int from = fragment.Marks[0].Start, to = fragment.Marks[^1].End;
                Assert.True(fragment.Start <= from && fragment.End >= to && fragment.End <= text.Length, what);
                Assert.True(fragment.Start >= before, $"{what}: a mark of the fragment before stands in the next");
                Assert.True(fragment.End - fragment.Start <= Math.Max(length, to - from), what);
                Assert.True(to - from <= length || fragment.Marks.Count == 1, what);
                Assert.True(
                    fragment.Start == 0 || fragment.Start == from || char.IsWhiteSpace(text[fragment.Start - 1]), what);
                Assert.True(
                    fragment.End == text.Length || fragment.End == to || char.IsWhiteSpace(text[fragment.End]), what);
                before = to;
            }

            // A fragment takes all that fits, so two beside each other do not fit into one.
            for (int i = 1; i < fragments.Count; i++)
                Assert.True(fragments[i].Marks[0].End - fragments[i - 1].Marks[0].Start > length, what);
            several += fragments.Count > 1 ? 1 : 0;
            whole += fragments is [{ Start: 0 } only] && only.End == text.Length ? 1 : 0;
        }

        Assert.True(several > 500 && whole > 50, $"{several} texts had several fragments, {whole} were one as a whole");
    }

    [Fact]
    public void Marks_stand_between_the_tags_of_their_conditions_and_without_them_the_text_is_as_it_was()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 1_000; round++)
        {
            string text = Text(random, out List<Mark> words);
            List<Mark> marks = [.. words.Where(_ => random.Next(3) == 0)];
            int tags = random.Next(4);
            var options = new HighlightOptions
            {
                PreTags = [.. Enumerable.Range(0, tags).Select(tag => $"<{tag}>")],
                PostTags = [.. Enumerable.Range(0, tags).Select(tag => $"</{tag}>")],
            };
            foreach (Fragment fragment in Fragment.Cut(text, marks, random.Next(1, 100)))
            {
                string expected = text[fragment.Start..fragment.End];
                foreach (Mark mark in fragment.Marks.Reverse())
                {
                    (string pre, string post) = tags == 0 ? ("", "") : ($"<{mark.Number % tags}>", $"</{mark.Number % tags}>");
                    expected = expected.Insert(mark.End - fragment.Start, post).Insert(mark.Start - fragment.Start, pre);
                }

                Assert.True(expected == fragment.Marked(options), $"seed {seed}, round {round}: '{text}'");
            }
        }
    }

    /// <summary>One mark of another condition is worth more than any number of one.</summary>
    [Fact]
    public void A_fragment_of_more_conditions_is_worth_more()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            Fragment few = Of(random.Next(1, 2_000), conditions: 1), more = Of(random.Next(2, 50), conditions: 2);
            Assert.True(more.Worth > few.Worth, $"{more.Marks.Count} marks and {few.Marks.Count}");
            Assert.True(Of(few.Marks.Count + 1, 1).Worth >= few.Worth);
        }

        static Fragment Of(int marks, int conditions) =>
            new("", 0, 0, [.. Enumerable.Range(0, marks).Select(mark => new Mark(mark, mark, mark % conditions))]);
    }

    private static string Text(Random random, out List<Mark> words)
    {
        words = [];
        string text = "";
        for (int i = random.Next(60); i > 0; i--)
        {
            string word = new((char)('a' + random.Next(26)), random.Next(20) == 0 ? 40 : random.Next(1, 10));
            words.Add(new Mark(text.Length, text.Length + word.Length, random.Next(5)));
            text += word + (random.Next(5) == 0 ? "" : random.Next(4) == 0 ? " - " : " ");
        }

        return text;
    }
}
