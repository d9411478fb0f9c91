using Treepie.Storage.Paging;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Paging;

public sealed class PageLocatorTests
{
    [Fact]
    public void It_answers_what_was_stored_last_or_nothing_at_all()
    {
        var random = new Random(Seed.Next());
        var locator = new PageLocator();
        var model = new Dictionary<long, (uint Frame, bool IsWritable)>();
        int hits = 0;
        for (int i = 0; i < 200_000; i++)
        {
            long page = random.Next(4) == 0 ? (1L << 47) + random.Next(2000) : random.Next(2000);
            switch (random.Next(200))
            {
                case 0:
                    locator.Reset();
                    model.Clear();
                    break;
                case < 20:
                    locator.Remove(page);
                    model.Remove(page);
                    break;
                case < 80:
                    model[page] = ((uint)random.Next(2, int.MaxValue), random.Next(2) == 0);
                    locator.Set(page, model[page].Frame, model[page].IsWritable);
                    break;
                default:
                    uint frame = locator.Get(page, out bool isWritable);
                    if (frame != 0)
                        Assert.Equal(model[page], (frame, isWritable));
                    else
                        Assert.False(isWritable);
                    hits += frame != 0 ? 1 : 0;
                    break;
            }
        }

        Assert.True(hits > 1000);
    }

    [Fact]
    public void What_was_stored_is_not_found_again_when_the_generation_comes_round()
    {
        var locator = new PageLocator();
        for (int round = 0; round < 3; round++)
        {
            locator.Set(round, 7, isWritable: true);
            Assert.Equal(7u, locator.Get(round, out _));
            for (int i = 0; i < (2 * ushort.MaxValue) + 5; i++)
            {
                locator.Reset();
                Assert.Equal(0u, locator.Get(round, out bool isWritable));
                Assert.False(isWritable);
            }
        }
    }

    [Fact]
    public void Two_pages_that_share_an_entry_are_never_taken_for_each_other()
    {
        var locator = new PageLocator();
        locator.Set(5, 50, isWritable: true);
        Assert.Equal(0u, locator.Get(5 + 512, out _));
        locator.Remove(5 + 512);
        Assert.Equal(50u, locator.Get(5, out _));
        locator.Set(5 + 512, 51, isWritable: false);
        Assert.Equal(0u, locator.Get(5, out _));
    }
}
