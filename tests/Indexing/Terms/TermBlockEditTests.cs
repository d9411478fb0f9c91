using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

/// <summary>Blocks changed in place against a sorted dictionary.</summary>
public sealed class TermBlockEditTests
{
    [Fact]
    public void A_block_that_is_changed_is_what_its_terms_would_have_made()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var edit = new TermBlockEdit(Weight);
        for (int round = 0; round < 2_000; round++)
        {
            var model = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
            foreach (int number in Enumerable.Range(0, random.Next(2, 90)).Select(_ => random.Next(500)))
                model[Term(number)] = Value(random);
            edit.Begin(Encode(model));
            Change(edit, model, random);
            if (model.Count > 0)
                AssertSame(edit, model, $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void A_term_that_begins_or_ends_otherwise_is_refused_and_nothing_changes()
    {
        var model = new SortedDictionary<string, byte[]>(StringComparer.Ordinal) { [Term(1)] = [1], [Term(5)] = [2] };
        var edit = new TermBlockEdit(Weight);
        edit.Begin(Encode(model));
        Assert.False(edit.Find("another"u8));
        Assert.False(edit.TryAdd("another"u8, [1]));
        Assert.False(edit.Find("term003"u8));
        Assert.False(edit.TryAdd("term003"u8, [1])); // no e at the end
        AssertSame(edit, model, "nothing was added");
    }

    private static void Change(TermBlockEdit edit, SortedDictionary<string, byte[]> model, Random random)
    {
        bool adds = random.Next(3) > 0, removes = random.Next(3) == 0;
        foreach (int number in Enumerable.Range(0, random.Next(40)).Select(_ => random.Next(500)).Distinct().Order())
        {
            byte[] term = Encoding.ASCII.GetBytes(Term(number)), value = Value(random);
            bool isThere = edit.Find(term);
            Assert.Equal(model.TryGetValue(Term(number), out byte[]? known), isThere);
            if (isThere)
                Assert.Equal(known, edit.Value.ToArray());
            if (isThere && removes)
            {
                edit.Remove();
                model.Remove(Term(number));
            }
            else if (isThere)
            {
                edit.Replace(value);
                model[Term(number)] = value;
            }
            else if (adds && edit.TryAdd(term, value))
            {
                model[Term(number)] = value;
            }
        }
    }

    private static void AssertSame(TermBlockEdit edit, SortedDictionary<string, byte[]> model, string what)
    {
        Assert.Equal(model.Count, edit.Count);
        int bytes = edit.Bytes;
        var block = new TermBlock(edit.Finish());
        Assert.True(
            edit.Finish().Length == bytes
                && block.Count == model.Count
                && block.Weight == model.Values.Sum(value => Weight(value)),
            what);
        int number = 0;
        foreach ((string term, byte[] value) in model)
        {
            Assert.True(
                block.LowerBound(Encoding.ASCII.GetBytes(term), out TermPlace found, out _, out bool isExact) == number++
                    && isExact,
                what);
            Assert.True(block.Value(found).SequenceEqual(value), what);
        }
    }

    private static byte[] Encode(SortedDictionary<string, byte[]> model)
    {
        var items = new List<TermItem>();
        var bytes = new ByteArena();
        foreach ((string term, byte[] value) in model)
            items.Add(new TermItem(bytes.Add(Encoding.ASCII.GetBytes(term)), term.Length, bytes.Add(value), value.Length));
        byte[] block = new TermBlockEncoder(Weight).Encode(items, 0, int.MaxValue, bytes, out int count).ToArray();
        return count == model.Count ? block : Encode(Half(model));
    }

    /// <summary>Fewer terms, where all do not fit into a block.</summary>
    private static SortedDictionary<string, byte[]> Half(SortedDictionary<string, byte[]> model)
    {
        foreach (string term in model.Keys.Skip(model.Count / 2).ToArray())
            model.Remove(term);
        return model;
    }

    private static string Term(int number) => $"term{number:000}e";

    private static byte[] Value(Random random)
    {
        byte[] value = new byte[random.Next(20) == 0 ? random.Next(60) : random.Next(1, 6)];
        random.NextBytes(value);
        return value;
    }

    private static long Weight(ReadOnlySpan<byte> value) => value.Length == 0 ? 0 : value[0];
}
