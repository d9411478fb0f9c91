using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class InsertionSortTests
{
    [Fact]
    public void Items_are_sorted_and_equal_ones_keep_their_order()
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 40; length++)
        {
            (int Key, int Place)[] items = [.. Enumerable.Range(0, length).Select(place => (random.Next(8), place))];
            (int Key, int Place)[] expected = [.. items.OrderBy(static item => item.Key)]; // a stable sort
            InsertionSort.Sort(items, default(ByKey));
            Assert.Equal(expected, items);
        }
    }

    [Fact]
    public void An_item_is_inserted_behind_its_equals()
    {
        (int Key, int Place)[] items = [(1, 0), (2, 1), (2, 2), (3, 3), (0, 0)];
        InsertionSort.Insert(items, (2, 4), default(ByKey));
        Assert.Equal([(1, 0), (2, 1), (2, 2), (2, 4), (3, 3)], items);
    }

    private readonly struct ByKey : IItemOrder<(int Key, int Place)>
    {
        public bool IsAfter(in (int Key, int Place) left, in (int Key, int Place) right) => left.Key > right.Key;
    }
}
