using System.Buffers.Binary;
using Treepie.Indexing.Columns;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

/// <summary>Blocks of few texts against an array of the texts, through any number of edits and encodings.</summary>
public sealed class TextBlockTests
{
    [Fact]
    public void A_block_has_the_texts_it_was_given_through_every_edit()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var editor = new TextBlockEditor();
        byte[] bytes = new byte[TextBlock.MaxBytes];
        int written = 0, refused = 0;
        for (int block = 0; block < 40; block++)
        {
            byte[][] pool = Pool(random);
            byte[]?[] model = new byte[]?[TextBlock.Entries];
            int used = random.Next(3) == 0 ? random.Next(1, TextBlock.Entries + 1) : TextBlock.Entries;
            editor.Clear();
            for (int round = 0; round < 6; round++)
            {
                string what = $"seed {seed}, block {block}, round {round}";
                for (int i = random.Next(1_500); i > 0; i--)
                {
                    int entry = random.Next(used);
                    if (random.Next(4) == 0)
                    {
                        editor.Remove(entry);
                        model[entry] = null;
                        continue;
                    }

                    byte[] text = pool[random.Next(pool.Length)];
                    if (editor.TrySet(entry, text))
                        model[entry] = text;
                    else
                        refused++;
                }

                for (int entry = 0; entry < model.Length; entry++)
                {
                    bool isThere = editor.TryGet(entry, out ReadOnlySpan<byte> text);
                    Assert.True(isThere == model[entry] is not null && text.SequenceEqual(model[entry] ?? []), what);
                }

                int length = editor.Encode(bytes);
                Assert.True((length == 0) == Array.TrueForAll(model, static text => text is null), what);
                if (length <= 0)
                    continue;
                written++;
                Check(new TextBlock(bytes.AsSpan(0, length)), model, what);
                if (random.Next(2) == 0)
                    editor.Load(new TextBlock(bytes.AsSpan(0, length)));
            }
        }

        Assert.True(written > 40 && refused > 40, $"{written} blocks were written, {refused} texts refused");
    }

    /// <summary>An editor takes as many texts as places have bits for, and bytes as fit, and says so before it changes.</summary>
    [Fact]
    public void A_text_too_many_is_refused_and_the_entry_keeps_its_own()
    {
        var editor = new TextBlockEditor();
        for (int i = 0; i < TextBlock.MaxTexts; i++)
            Assert.True(editor.TrySet(i, [(byte)i]));
        Assert.False(editor.TrySet(5, "new"u8));
        Assert.True(editor.TryGet(5, out ReadOnlySpan<byte> kept));
        Assert.Equal([5], kept.ToArray());
        Assert.True(editor.TrySet(5, [7])); // one of those that it has
        Assert.Equal(TextBlock.MaxTexts, editor.Count);

        editor.Clear();
        Assert.True(editor.TrySet(0, new byte[1_000]));
        Assert.False(editor.TrySet(1, new byte[1_100]));
        Assert.False(editor.TryGet(1, out _));
        Assert.True(editor.TrySet(1, new byte[900]));
    }

    private static void Check(TextBlock block, byte[]?[] model, string what)
    {
        byte[][] distinct =
        [
            .. model.OfType<byte[]>().DistinctBy(Convert.ToHexString)
                .Order(Comparer<byte[]>.Create(static (x, y) => x.AsSpan().SequenceCompareTo(y))),
        ];
        Assert.True(distinct.Length == block.Count, what);
        for (int place = 1; place <= distinct.Length; place++)
        {
            Assert.True(block.TextAt(place).SequenceEqual(distinct[place - 1]), what);
            Assert.True(TextBlock.TextIn(block.Texts, block.Count, place).SequenceEqual(distinct[place - 1]), what);
            byte[] head = new byte[sizeof(ulong)];
            distinct[place - 1].AsSpan(0, Math.Min(head.Length, distinct[place - 1].Length)).CopyTo(head);
            Assert.True(BinaryPrimitives.ReadUInt64BigEndian(head) == block.HeadAt(place), what);
        }

        for (int entry = 0; entry < model.Length; entry++)
        {
            int place = block.PlaceOf(entry);
            Assert.True(
                model[entry] is { } text ? place > 0 && block.TextAt(place).SequenceEqual(text) : place == 0,
                $"{what}, entry {entry}");
        }
    }

    private static byte[][] Pool(Random random)
    {
        int longest = random.Next(3) switch { 0 => 2, 1 => 12, _ => 120 };
        return [.. Enumerable.Range(0, random.Next(1, 80)).Select(_ => Text(random, longest))];
    }

    private static byte[] Text(Random random, int longest)
    {
        byte[] text = new byte[random.Next(longest + 1)];
        random.NextBytes(text);
        return text;
    }
}
