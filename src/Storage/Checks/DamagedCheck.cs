using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>Checks a directory that is too damaged to be opened: what it cannot be opened for, and all else that is wrong.</summary>
internal sealed class DamagedCheck(World world, EncryptionKey? key)
{
    private readonly IFileSystem files = world.Files;

    public CheckReport Run(CorruptionException reason, IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
    {
        var found = new List<CheckProblem>();
        using RecoveredState state = RecoveredState.Open(world, key, found.Add);
        var context = new CheckContext(state.Store, state.PageCount, progress, cancellationToken) { PagesTotal = state.PageCount };
        context.Report($"The environment cannot be opened: {reason.Message}", file: files.Path);
        foreach (CheckProblem problem in found)
            context.Report(problem.What, problem.Tree, problem.Page, problem.File);
        if (state.State is not { } snapshot)
            return context.ToReport(-1, 0);

        new KindCheck(context).RunAll(snapshot.Catalogue, snapshot.System);
        return context.ToReport(snapshot.TransactionId, 0);
    }

    /// <summary>
    /// Adds to a report whether the older meta page can be read, which an environment can do without. After a crash in the middle of
    /// a checkpoint it cannot, and the next checkpoint writes it anew.
    /// </summary>
    public CheckReport AddOlderMeta(CheckReport report)
    {
        using IFile file = files.Open(FormatLimits.DataFileName, create: false, writable: false);
        string path = Path.Combine(files.Path, file.Name);
        var bytes = new byte[PageLayout.SizeBytes];
        MetaPage?[] meta = [null, null];
        for (int slot = 0; slot < 2; slot++)
            if (file.Read(bytes, (long)slot * PageLayout.SizeBytes) == bytes.Length)
                meta[slot] = MetaPage.TryRead(bytes, slot, path);
        int damaged = Array.IndexOf(meta, null);
        if (damaged < 0 || meta[1 - damaged] is not { Checkpoint: > 0 } other)
            return report;

        var problem = new CheckProblem(path, damaged, null,
            $"It is a meta page and cannot be read; the other one, of transaction {other.LastTransaction}, is in force. A crash during a checkpoint leaves it so: then opening the environment and closing it mends it. If there was none, the newer of the two may be lost.");
        return report with { Problems = [.. report.Problems, problem], ProblemCount = report.ProblemCount + 1 };
    }
}
