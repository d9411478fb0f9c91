using Treepie.Storage.Files;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

public sealed class ReadAheadTests
{
    private const int PageBytes = 8 * 1024;
    private const long Mebibyte = 1 << 20;

    [Fact]
    public void A_page_here_and_there_comes_alone()
    {
        var ahead = new ReadAhead();
        ahead.Grow(100 * Mebibyte);
        for (long region = 0; region < 100; region += 7)
            Assert.Equal(((region * Mebibyte) + (3 * PageBytes), PageBytes), ahead.Next((region * Mebibyte) + (3 * PageBytes)));
    }

    [Fact]
    public void Who_reads_everything_asks_for_little_more_than_once_and_seldom()
    {
        var ahead = new ReadAhead();
        ahead.Grow(4 * Mebibyte);
        long bytes = 0;
        int requests = 0;
        for (long offset = 0; offset < 4 * Mebibyte; offset += PageBytes)
        {
            (long _, long length) = ahead.Next(offset);
            bytes += length;
            requests += length > 0 ? 1 : 0;
        }

        Assert.InRange(requests, 4 * 4, 4 * 9);
        Assert.InRange(bytes, 4 * Mebibyte, 6 * Mebibyte);
    }

    [Fact]
    public void What_is_asked_for_holds_the_page_and_begins_where_its_size_says()
    {
        var random = new Random(Seed.Next());
        var ahead = new ReadAhead();
        ahead.Grow(3 * Mebibyte);
        var seen = new HashSet<long>();
        for (int i = 0; i < 2_000; i++)
        {
            long page = random.NextInt64(5 * Mebibyte / PageBytes) * PageBytes;
            (long start, long length) = ahead.Next(page);
            if (page >= 4 * Mebibyte)
                Assert.Equal(0, length); // not mapped yet
            if (length == 0)
                continue;
            Assert.True(start <= page && page + PageBytes <= start + length && start % length == 0, $"{page}: {start} {length}");
            for (long covered = start; covered < start + length; covered += PageBytes)
                seen.Add(covered);
        }

        for (long page = 0; page < 3 * Mebibyte; page += PageBytes)
        {
            if (ahead.Next(page).LengthBytes == 0)
                Assert.Contains(page, seen); // skipped only if it was read before
        }
    }

    [Fact]
    public void Around_what_was_asked_for_by_itself_nothing_is_read()
    {
        var random = new Random(Seed.Next());
        var ahead = new ReadAhead();
        ahead.Ask(0, Mebibyte); // not mapped yet: no effect
        ahead.Grow(3 * Mebibyte);
        var asked = new HashSet<long>();
        for (int i = 0; i < 40; i++)
        {
            long first = random.NextInt64(3 * Mebibyte / PageBytes);
            long count = Math.Min(random.Next(1, 9), (3 * Mebibyte / PageBytes) - first);
            ahead.Ask(first * PageBytes, count * PageBytes);
            asked.UnionWith(Enumerable.Range((int)first, (int)count).Select(static page => (long)page));
        }

        ahead.Ask((3 * Mebibyte) - PageBytes, 100 * Mebibyte); // limited to the end of the file
        asked.Add((3 * Mebibyte / PageBytes) - 1);
        ahead.Grow(5 * Mebibyte);
        foreach (long page in asked)
            Assert.Equal(default, ahead.Next(page * PageBytes));
        for (int region = 0; region < 3; region++)
        {
            long free = Enumerable.Range(region * 128, 128).First(page => !asked.Contains(page));
            Assert.Equal((free * PageBytes, PageBytes), ahead.Next(free * PageBytes));
        }
    }

    [Fact]
    public void What_left_memory_whole_is_read_ahead_again_and_the_rest_is_not()
    {
        const int pages = (int)(3 * Mebibyte / PageBytes);
        var ahead = new ReadAhead();
        ahead.Grow(3 * Mebibyte);
        ahead.Ask(2 * Mebibyte, PageBytes);
        for (int page = 0; page < 2 * pages / 3; page++)
            ahead.Next(page * PageBytes);
        Assert.All(Enumerable.Range(0, 2 * pages / 3), page => Assert.Equal(default, ahead.Next(page * PageBytes)));

        var resident = new byte[pages];
        resident[200] = 1; // in the second mebibyte
        ahead.Forget(0, resident);

        Assert.Equal((7 * PageBytes, PageBytes), ahead.Next(7 * PageBytes));
        Assert.All(Enumerable.Range(pages / 3, pages / 3), page => Assert.Equal(default, ahead.Next(page * PageBytes)));
        Assert.Equal((2 * Mebibyte, PageBytes), ahead.Next(2 * Mebibyte)); // also what was asked for explicitly
        ahead.Forget(2 * Mebibyte, new byte[2 * pages]); // beyond the file: no effect
    }
}
