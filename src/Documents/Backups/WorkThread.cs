namespace Treepie.Backups;

/// <summary>
/// Runs the long work of a backup on a dedicated thread. The thread pool has as many threads as there are cores; on two
/// cores, a backup would block one that writers and requests wait for, and adding a thread takes the pool half a second. The
/// work stays on its thread as long as everything it awaits completes synchronously, which <see cref="BlockingStream"/>
/// ensures.
/// </summary>
internal static class WorkThread
{
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
