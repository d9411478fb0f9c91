using Treepie.Backups;
using Treepie.Server.Operations;

namespace Treepie.Server.Smuggler;

/// <summary>Reports the progress of a backup, export, import or restore as that of its operation.</summary>
internal sealed class OperationReporter(Operation operation, OperationKind kind = OperationKind.Other) : IProgress<BackupProgress>
{
    public void Report(BackupProgress value)
    {
        OperationProgress now = value.Documents == 0 && value.Pages > 0
            ? new OperationProgress(value.Pages, Math.Max(value.PagesTotal, value.Pages), 0, value.LastId)
            : new OperationProgress(value.Documents, Math.Max(value.DocumentsTotal, value.Documents), 0, value.LastId);
        operation.Report(now with { Kind = kind, Sections = value.Sections });
    }
}
