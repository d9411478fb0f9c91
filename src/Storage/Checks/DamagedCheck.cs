using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>
/// Checks a directory that is too damaged to be opened. Reports why it cannot be opened and every other problem found.
/// </summary>
internal sealed class DamagedCheck(World world, EncryptionKey? key)
{
    private readonly IFileSystem _files = world.Files;

    public CheckReport Run(CorruptionException reason, IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
    {
        var found = new List<CheckProblem>();
        using RecoveredState state = RecoveredState.Open(world, key, found.Add);
        var context = new CheckContext(state.Store, state.PageCount, progress, cancellationToken)
        {
            PagesTotal = state.PageCount
        };
        context.Report($"The environment cannot be opened: {reason.Message}", file: _files.Path);
        foreach (CheckProblem problem in found)
            context.Report(problem.What, problem.Tree, problem.Page, problem.File);
        if (state.State is not { } snapshot)
            return context.ToReport(-1, 0);

        new KindCheck(context).RunAll(snapshot.Catalogue, snapshot.System);
        return context.ToReport(snapshot.TransactionId, 0);
    }

    /// <summary>
    /// Adds problems of meta page copies that are not in force. Reports a page that cannot be read (an environment can do
    /// without the older one; a crash during a checkpoint may leave it unreadable, and the next checkpoint rewrites it)
    /// and copies that were changed without the key.
    /// </summary>
    public CheckReport AddOlderMeta(CheckReport report, StoreCipher? cipher)
    {
        using IFile file = _files.Open(FormatLimits.DataFileName, create: false, writable: false);
        string path = Path.Combine(_files.Path, file.Name);
        var bytes = new byte[PageLayout.SizeBytes];
        var problems = new List<CheckProblem>(report.Problems);
        IReadOnlyList<MetaPage>[] copies = [[], []];
        for (int slot = 0; slot < 2; slot++)
        {
            if (file.Read(bytes, (long)slot * PageLayout.SizeBytes) == bytes.Length)
                copies[slot] = MetaPage.ReadCopies(bytes, slot, path);
            if (cipher is not null && copies[slot].Any(copy => copy.Keys is null || cipher.TagOf(copy) != copy.Tag))
                problems.Add(
                    new CheckProblem(
                        path, slot, null,
                        "It is a meta page, and a copy in it was changed by someone without the key. It is not in force; the "
                            + "next checkpoints write it anew."));
        }

        int damaged = Array.FindIndex(copies, found => found.Count == 0);
        if (damaged >= 0 && copies[1 - damaged].MaxBy(copy => copy.Checkpoint) is { Checkpoint: > 0 } other)
            problems.Add(new CheckProblem(path, damaged, null,
                $"It is a meta page and cannot be read; the other one, of transaction {other.LastTransaction}, is in force. A "
                    + $"crash during a checkpoint leaves it so: then opening the environment and closing it mends it. If there "
                    + $"was none, the newer of the two may be lost."));
        return report with { Problems = problems, ProblemCount = report.ProblemCount + problems.Count - report.Problems.Count };
    }
}
