namespace Treepie.Storage;

/// <summary>The progress of a check or a salvage.</summary>
/// <param name="Step">The current step, in a word or two.</param>
/// <param name="PagesDone">The number of pages processed in this step.</param>
/// <param name="PagesTotal">The number of pages of this step, as far as is known.</param>
public readonly record struct CheckProgress(string Step, long PagesDone, long PagesTotal);
