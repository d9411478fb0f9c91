using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.FreeSpace;

public sealed class FreePagesTests
{
    [Fact]
    public void A_page_is_given_out_again_exactly_when_nobody_sees_it_and_a_reader_keeps_one_version_of_each_thing()
    {
        var random = new Random(Seed.Next());
        var space = new FreePages(FormatLimits.FirstDataPage, 0, (_, _) => { }, _ => { });
        var things = new List<(PageRun Run, long Birth)>(); // the runs of the current state; each change replaces some
        var dead = new List<(PageRun Run, long Birth, long Freed)>(); // freed runs not allocated again yet
        var readers = new List<long>();
        long transaction = 0, durable = 0;
        var released = new List<PageRun>();
        for (int step = 0; step < 4000; step++)
        {
            transaction++;
            for (int i = random.Next(4); i >= 0; i--)
            {
                if (things.Count < 60)
                    things.Add((default, 0));
                int index = random.Next(things.Count);
                int pages = random.Next(8) == 0 ? random.Next(2, 9) : 1;
                var run = new PageRun(space.Allocate(pages), pages);
                AssertUnseen(run);
                if (things[index].Run.Pages > 0)
                {
                    space.Free(things[index].Run, things[index].Birth, transaction);
                    dead.Add((things[index].Run, things[index].Birth, transaction));
                }

                things[index] = (run, transaction);
            }

            if (random.Next(6) == 0)
                durable = transaction;
            if (random.Next(10) == 0 && readers.Count < 5)
                readers.Add(transaction);
            if (random.Next(12) == 0 && readers.Count > 0)
                readers.RemoveAt(random.Next(readers.Count));
            long[] snapshots = [.. readers.Append(durable).Append(transaction).Order()];
            released.Clear();
            space.Reclaim(snapshots, durable, -1, released);
            foreach (PageRun run in released)
                dead.RemoveAll(gone => gone.Run == run);

            // Exactly what a snapshot can see is kept.
            Assert.All(dead, held => Assert.Contains(snapshots, snapshot => snapshot >= held.Birth && snapshot < held.Freed));
            Assert.Equal(
                space.PageCount - FormatLimits.FirstDataPage,
                space.LivePages + space.FreeCount + dead.Sum(held => held.Run.Pages));
            long most = snapshots.Distinct().Count() * 60L * 8;
            Assert.InRange(dead.Sum(held => held.Run.Pages), 0, most);
            if (random.Next(20) == 0)
                space.TrimEnd();
        }

        Assert.True(space.PageCount < 4000, $"{space.PageCount} pages for 60 things.");

        void AssertUnseen(PageRun run)
        {
            bool overlaps(PageRun other) => other.First < run.First + run.Pages && run.First < other.First + other.Pages;
            Assert.DoesNotContain(things, thing => thing.Run.Pages > 0 && overlaps(thing.Run));
            Assert.DoesNotContain(dead, held => overlaps(held.Run));
        }
    }

    [Fact]
    public void Groups_are_read_when_a_page_of_theirs_is_needed_and_not_before()
    {
        const int Groups = 20;
        var asked = new List<int>();
        long pages = (long)Groups * FormatLimits.PagesPerBitmap;
        var space = new FreePages(pages, pages - FormatLimits.FirstDataPage - 3, (group, live) =>
        {
            asked.Add(group);
            live.Fill(ulong.MaxValue);
            if (group == 7)
                live[10] = ~0b111UL;
        }, _ => { });
        Assert.Empty(asked);
        Assert.Equal(3, space.FreeCount);

        var freed = new PageRun(12L * FormatLimits.PagesPerBitmap, 1);
        space.Load(freed);
        space.Free(freed, 1, 5);
        Assert.Equal([12], asked);
        for (int i = 0; i < 3; i++)
            Assert.Equal((7L * FormatLimits.PagesPerBitmap) + 640 + i, space.Allocate(1));
        Assert.Equal([12, 0, 1, 2, 3, 4, 5, 6, 7], asked); // it searched for the lowest free page
        Assert.Equal(pages, space.Allocate(1));
        Assert.Equal(9, asked.Count); // no page is free, so it does not search
    }

    [Fact]
    public void The_end_is_trimmed_down_to_the_last_page_that_somebody_uses()
    {
        var space = new FreePages(FormatLimits.FirstDataPage, 0, (_, _) => { }, _ => { });
        long first = space.Allocate(FormatLimits.PagesPerBitmap * 2);
        var kept = new PageRun(first + 100, 1);
        space.Return(new PageRun(first, 100));
        space.Return(new PageRun(first + 101, (FormatLimits.PagesPerBitmap * 2) - 101));
        space.TrimEnd();
        Assert.Equal(kept.First + 1, space.PageCount);
        Assert.Equal(100, space.FreeCount);
        space.Free(kept, 1, 2);
        space.TrimEnd();
        Assert.Equal(kept.First + 1, space.PageCount); // a snapshot may still see it
        space.Reclaim([], 2, -1, []);
        space.TrimEnd();
        Assert.Equal(FormatLimits.FirstDataPage, space.PageCount);
        Assert.Equal(0, space.FreeCount);
    }
}
