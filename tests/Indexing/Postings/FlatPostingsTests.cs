using Treepie.Indexing.Postings;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

/// <summary>Short lists that grow.</summary>
public sealed class FlatPostingsTests
{
    [Fact]
    public void A_list_with_others_behind_is_what_all_of_them_would_have_made()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] before = new byte[FlatPostings.MaxBytes],
            appended = new byte[FlatPostings.MaxBytes],
            whole = new byte[FlatPostings.MaxBytes];
        int refused = 0;
        for (int round = 0; round < 3_000; round++)
        {
            bool keepsPositions = random.Next(2) == 0;
            PostingBuffer first = new(keepsPositions), more = new(keepsPositions), all = new(keepsPositions);
            long id = 0;
            int count = random.Next(1, random.Next(2) == 0 ? 4 : 250), added = random.Next(1, 20);
            for (int i = 0; i < count + added; i++)
            {
                id += random.Next(1, random.Next(2) == 0 ? 100 : 1_000_000);
                int[] positions =
                    [.. Enumerable.Range(0, random.Next(3) > 0 ? 1 : random.Next(1, 200)).Select(at => (at * 3) + 1)];
                var posting = new Posting(id, positions.Length);
                (i < count ? first : more).Add(posting, positions);
                all.Add(posting, positions);
            }

            int length = FlatPostings.Encode(first.Run, before);
            if (length == 0)
                continue;
            FlatPostings old = first.Count == 1
                ? FlatPostings.OfOne(before.AsSpan(0, length))
                : new FlatPostings(before.AsSpan(0, length));
            int wanted = FlatPostings.Encode(all.Run, whole);
            Assert.Equal(wanted, FlatPostings.Append(old, more.Run, appended));
            Assert.True(whole.AsSpan(0, wanted).SequenceEqual(appended.AsSpan(0, wanted)), $"seed {seed}, round {round}");
            refused += wanted == 0 ? 1 : 0;
        }

        Assert.True(refused > 0, "some lists grow too long");
    }

    [Fact]
    public void A_list_is_copied_as_it_is_walked()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] bytes = new byte[FlatPostings.MaxBytes];
        var room = new Posting[FlatPostings.MaxEntries];
        for (int round = 0; round < 3_000; round++)
        {
            PostingBuffer list = new(keepsPositions: false);
            long id = 0;
            int most = new[] { 100, 10_000, 1_000_000, int.MaxValue }[random.Next(4)];
            for (int count = random.Next(1, FlatPostings.MaxEntries + 1); count > 0; count--)
                list.Add(
                    new Posting(id += random.Next(1, most), random.Next(3) > 0 ? 1 : random.Next(1, most)), Array.Empty<int>());
            int length = FlatPostings.Encode(list.Run, bytes);
            if (length == 0)
                continue;
            FlatPostings flat = list.Count == 1
                ? FlatPostings.OfOne(bytes.AsSpan(0, length))
                : new FlatPostings(bytes.AsSpan(0, length));
            Assert.Equal(list.Count, flat.CopyTo(room));
            for (int i = 0; flat.MoveNext(out Posting posting); i++)
                Assert.True(posting == room[i] && posting == list.Run[i], $"seed {seed}, round {round}, entry {i}");
        }
    }

    [Fact]
    public void A_damaged_list_is_an_error_and_nothing_else()
    {
        var random = new Random(Seed.Next());
        var room = new Posting[20];
        int errors = 0;
        for (int round = 0; round < 5_000; round++)
        {
            byte[] bytes = new byte[random.Next(2, 60)];
            random.NextBytes(bytes);
            (bytes[0], bytes[1]) = (20, (byte)(bytes.Length - 2));
            try
            {
                Assert.InRange(new FlatPostings(bytes).CopyTo(room), 0, room.Length);
            }
            catch (CorruptionException)
            {
                errors++;
            }
        }

        Assert.InRange(errors, 1, 4_999);
    }

    [Fact]
    public void Frequencies_of_a_window_are_copied_as_they_are_asked_for()
    {
        var random = new Random(Seed.Next());
        byte[] payload = new byte[PostingWindow.MaxEncodedBytes(PostingWindow.Size)];
        int[] copied = new int[PostingWindow.Size];
        foreach (int most in (int[])[1, 2, 15, 255, 65_535, 1_000_000])
        {
            foreach (int count in (int[])[1, 100, 127, 128, 1_000, PostingWindow.Size])
            {
                ushort[] offsets = [
                    .. Enumerable.Range(0, PostingWindow.Size)
                        .OrderBy(_ => random.Next())
                        .Take(count)
                        .Order()
                        .Select(offset => (ushort)offset)];
                int[] frequencies = [.. offsets.Select(_ => random.Next(8) > 0 ? 1 : random.Next(1, most + 1))];
                int length = PostingWindow.Encode(offsets, frequencies, new byte[PostingWindow.Blocks], payload);
                var window = new PostingWindow(count, payload.AsSpan(0, length));
                window.CopyFrequencies(copied);
                Assert.Equal(frequencies, copied[..count]);
                if (frequencies.Max() == 1)
                    // nothing says that all are 1
                    Assert.Equal(PostingWindow.IdBytes(count) + PostingWindow.ImpactBytes(count), length);
                for (int rank = 0; rank < count; rank++)
                    Assert.Equal(frequencies[rank], window.Frequency(rank));
            }
        }
    }
}
