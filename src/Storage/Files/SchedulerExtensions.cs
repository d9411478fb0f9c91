namespace Treepie.Storage.Files;

/// <summary>Operations on all schedulers.</summary>
internal static class SchedulerExtensions
{
    /// <summary>
    /// Runs work on another thread, or on the calling thread if none can be started. The task completes or fails as the work
    /// does.
    /// </summary>
    public static Task RunAsync(this IScheduler scheduler, Action work)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        try
        {
            scheduler.Queue(Run);
        }
        catch (Exception)
        {
            Run();
        }

        return done.Task;

        void Run()
        {
            try
            {
                work();
                done.SetResult();
            }
            catch (Exception error)
            {
                done.SetException(error);
            }
        }
    }
}
