namespace Treepie.Storage.Transactions;

/// <summary>Work that nobody waits for, on the thread pool, until the environment closes.</summary>
internal sealed class Background(bool isAllowed)
{
    private readonly Lock _lock = new();
    private readonly List<Task> _tasks = [];
    private bool _isStopped;

    public bool IsAllowed => isAllowed;

    /// <summary>Whether all work has ended for good.</summary>
    public bool IsIdle
    {
        get
        {
            lock (_lock)
                return _isStopped && _tasks.TrueForAll(task => task.IsCompleted);
        }
    }

    /// <summary>Starts work, unless the environment is closing. What it throws is its own affair: it is work that can be done later too.</summary>
    public void Run(Action work)
    {
        lock (_lock)
        {
            if (_isStopped)
                return;

            _tasks.RemoveAll(task => task.IsCompleted);
            _tasks.Add(Task.Run(work));
        }
    }

    /// <summary>Lets no new work begin and waits for what runs.</summary>
    public void WaitForAll()
    {
        Task[] tasks;
        lock (_lock)
        {
            _isStopped = true;
            tasks = [.. _tasks];
        }

        foreach (Task task in tasks)
            ((IAsyncResult)task).AsyncWaitHandle.WaitOne();
    }
}
