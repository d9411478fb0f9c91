using Treepie.Backups;
using Treepie.Server.Operations;

namespace Treepie.Server.Smuggler;

/// <summary>Tells how far an export, import or restore is, to those who ask for the state of its operation.</summary>
internal sealed class OperationReporter(Operation operation) : IProgress<BackupProgress>
{
    public void Report(BackupProgress value) => operation.Report(value.Documents == 0 && value.Pages > 0
        ? new OperationProgress(value.Pages, Math.Max(value.PagesTotal, value.Pages), 0, value.LastId)
        : new OperationProgress(value.Documents, Math.Max(value.DocumentsTotal, value.Documents), 0, value.LastId));
}
