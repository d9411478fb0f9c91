namespace Treepie.Backups;

/// <summary>
/// Runs the long work of a backup on a thread of its own. The pool has as many threads as there are cores, and on two of them a
/// backup would hold one that writers and requests wait for; adding threads takes it half a second each. The work stays on its
/// thread as long as what it awaits is there at once, which <see cref="BlockingStream"/> sees to.
/// </summary>
internal static class WorkThread
{
    /// <summary>Runs it.</summary>
    public static Task<T> RunAsync<T>(Func<Task<T>> work)
    {
        var begun = new TaskCompletionSource<Task<T>>(TaskCreationOptions.RunContinuationsAsynchronously);
        var thread = new Thread(() =>
        {
            try
            {
                begun.SetResult(work());
            }
            catch (Exception error)
            {
                begun.SetException(error);
            }
        })
        {
            IsBackground = true,
            Name = "treepie backup",
        };
        thread.Start();
        return begun.Task.Unwrap();
    }
}
