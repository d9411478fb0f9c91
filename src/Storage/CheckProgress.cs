namespace Treepie.Storage;

/// <summary>How far a check or a salvage is.</summary>
/// <param name="Step">What is being done, in a word or two.</param>
/// <param name="PagesDone">Pages behind it, in this step.</param>
/// <param name="PagesTotal">Pages this step has, as far as is known.</param>
public readonly record struct CheckProgress(string Step, long PagesDone, long PagesTotal);
