using Treepie.Backups;
using Treepie.Server.Operations;

namespace Treepie.Server.Smuggler;

/// <summary>Tells how far an export, import or restore is, to those who ask for the state of its operation.</summary>
internal sealed class OperationReporter(Operation operation) : IProgress<BackupProgress>
{
    public void Report(BackupProgress value) =>
        operation.Report(new OperationProgress(value.Documents, Math.Max(value.DocumentsTotal, value.Documents), 0, value.LastId));
}
