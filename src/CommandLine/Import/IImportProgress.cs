namespace Treepie.CommandLine.Import;

/// <summary>Observes an import. Called by one thread at a time.</summary>
internal interface IImportProgress
{
    /// <summary>A batch was processed.</summary>
    void Report(ImportCounts counts);

    /// <summary>A line was skipped.</summary>
    void Report(LineProblem problem);
}
