using System.Collections;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>A sorted sequence, which can be sorted by further keys: by few, because each takes a place on the stack.</summary>
internal sealed class SortedValues(IOrderedEnumerable<Value> items, int keys) : IEnumerable<Value>
{
    private const int MaxKeys = 64;

    public IEnumerator<Value> GetEnumerator() => items.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Sorts values with equal keys by one more.</summary>
    public SortedValues Then(Func<IOrderedEnumerable<Value>, IOrderedEnumerable<Value>> sort) =>
        keys < MaxKeys
            ? new SortedValues(sort(items), keys + 1)
            : throw new ComputingException($"a sequence is sorted by more than {MaxKeys} keys.");
}
