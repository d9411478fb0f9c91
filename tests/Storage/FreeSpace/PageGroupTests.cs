using System.Diagnostics;
using System.Globalization;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.FreeSpace;

/// <summary>Searches by words must find the same as searches page by page.</summary>
public sealed class PageGroupTests
{
    private const int Pages = FormatLimits.PagesPerBitmap;

    [Fact]
    public void The_first_run_of_any_length_is_found_as_by_looking_at_each_page_while_pages_come_and_go()
    {
        var random = new Random(Seed.Next());
        for (int density = 1; density <= 9; density++)
        {
            var group = new PageGroup();
            var free = new bool[Pages];
            for (int step = 0; step < 300; step++)
            {
                Change(group, free, random, density);
                int length = random.Next(4) == 0 ? random.Next(1, 600) : random.Next(1, 70);
                Assert.Equal(FirstRun(free, length), group.FindRun(length));
                // What the first search recorded must not change the result.
                Assert.Equal(FirstRun(free, length), group.FindRun(length));
                int below = random.Next(Pages + 1);
                Assert.Equal(Array.LastIndexOf(free, false, Math.Max(0, below - 1), below), group.FindLastNotFree(below));
            }
        }
    }

    [Fact]
    public void A_fragmented_file_of_ten_million_pages_is_searched_for_runs_without_looking_at_each_page()
    {
        const int Groups = 154; // 10,013,696 pages
        long pages = (long)Groups * Pages;
        var space = new FreePages(
            // Every second page is free, so no two free pages are adjacent.
            pages, pages / 2, static (_, live) => live.Fill(0x5555555555555555), static _ => { });
        Assert.Equal(pages, space.Allocate(2)); // loads every group
        long single = space.Allocate(1);
        var watch = Stopwatch.StartNew();
        const int Searches = 200;
        for (int i = 0; i < Searches; i++)
        {
            space.Return(new PageRun(single, 1)); // freeing invalidates what was known about runs
            Assert.True(space.Allocate(3) >= pages);
            Assert.Equal(single, space.Allocate(1));
        }

        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{watch.Elapsed.TotalMicroseconds / Searches:f1} µs for each search of {pages:N0} pages"));
    }

    private static void Change(PageGroup group, bool[] free, Random random, int density)
    {
        int start = random.Next(Pages), end = Math.Min(Pages, start + random.Next(1, 3_000));
        for (int i = start; i < end; i++)
        {
            free[i] = random.Next(10) < density;
            if (free[i])
                group.SetFree(i);
            else
                group.ClearFree(i);
        }
    }

    private static int FirstRun(bool[] free, int length)
    {
        int run = 0;
        for (int i = 0; i < free.Length; i++)
        {
            run = free[i] ? run + 1 : 0;
            if (run == length)
                return i - length + 1;
        }

        return -1;
    }
}
