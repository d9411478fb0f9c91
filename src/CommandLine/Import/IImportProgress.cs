namespace Treepie.CommandLine.Import;

/// <summary>Who watches an import. Called by one thread at a time.</summary>
internal interface IImportProgress
{
    /// <summary>A batch was settled.</summary>
    void Report(ImportCounts counts);

    /// <summary>A line is passed over.</summary>
    void Report(LineProblem problem);
}
