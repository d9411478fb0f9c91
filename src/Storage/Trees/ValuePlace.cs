using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// Where a value lies in one state of a tree. That its page is still the one meant is looked at again each time it is read, as on
/// every other way to it; where in the page the value is, is known, so that a processor need not wait for what leads there.
/// </summary>
/// <param name="Page">First page of its run, or the leaf it stands in.</param>
/// <param name="Offset">Where in the leaf it begins; 0: it has a run of pages of its own.</param>
/// <param name="Length">Its bytes.</param>
internal readonly record struct ValuePlace(PageReference Page, int Offset, int Length)
{
    /// <summary>Whether it has a run of pages of its own.</summary>
    public bool IsRun => Offset == 0;
}
