using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Sorts a few items. It is stable and does not allocate; in the base class library, sorting a span is not stable, and sorting
/// by LINQ allocates.
/// </summary>
internal static class InsertionSort
{
    /// <summary>Sorts the items.</summary>
    public static void Sort<T, TOrder>(Span<T> items, scoped TOrder order)
        where TOrder : struct, IItemOrder<T>, allows ref struct
    {
        for (int count = 1; count < items.Length; count++)
            Insert(items[..(count + 1)], items[count], order);
    }

    /// <summary>Inserts an item into sorted ones, behind its equals.</summary>
    /// <param name="items">The sorted items and one more place at the end, whose content is overwritten.</param>
    /// <param name="item">The item.</param>
    /// <param name="order">The order of the items.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Insert<T, TOrder>(Span<T> items, T item, scoped TOrder order)
        where TOrder : struct, IItemOrder<T>, allows ref struct
    {
        Debug.Assert(!items.IsEmpty, "there is a place for the item");
        int place = items.Length - 1;
        for (; place > 0 && order.IsAfter(items[place - 1], item); place--)
            items[place] = items[place - 1];
        items[place] = item;
    }
}
