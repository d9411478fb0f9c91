using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>Where a value lies in one state of a tree. What is there is looked at again each time it is read, as on every other way to it.</summary>
/// <param name="Page">First page of its run, or the leaf it stands in.</param>
/// <param name="Number">Bytes of the run, or its number in the leaf.</param>
/// <param name="IsRun">Whether it has a run of pages of its own.</param>
internal readonly record struct ValuePlace(PageReference Page, int Number, bool IsRun);
