using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// Where a value lies in one state of a tree. Each read verifies that the page is still the one meant, as every other read does;
/// the offset in the page is known, so the processor does not wait for the slots that lead to it.
/// </summary>
/// <param name="Page">First page of its run, or its leaf.</param>
/// <param name="Offset">Offset in the leaf; 0 for a value in a run of its own.</param>
/// <param name="Length">Length in bytes.</param>
internal readonly record struct ValuePlace(PageReference Page, int Offset, int Length)
{
    /// <summary>Whether the value has a run of its own.</summary>
    public bool IsRun => Offset == 0;
}
