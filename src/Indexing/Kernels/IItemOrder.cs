namespace Treepie.Indexing.Kernels;

/// <summary>An order of items, as a struct so that loops over it are compiled for it.</summary>
internal interface IItemOrder<T>
{
    /// <summary>Whether an item belongs behind another; false for equal ones.</summary>
    bool IsAfter(in T left, in T right);
}
