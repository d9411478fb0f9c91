namespace Treepie.Storage.Transactions;

/// <summary>What transactions, sessions and long operations need from their environment.</summary>
internal interface ITransactionSource
{
    /// <summary>The state shared by the environment's writer, checkpointer and readers.</summary>
    EnvironmentState State { get; }

    /// <inheritdoc cref="StorageEnvironment.GetStatistics"/>
    StorageStatistics GetStatistics();

    /// <inheritdoc cref="StorageEnvironment.BeginRead"/>
    ReadTransaction BeginRead(string? name = null);

    /// <summary>
    /// Begins another read of a snapshot that already has a reader. That reader must stay open until this returns, so that
    /// none of the snapshot's pages have been freed.
    /// </summary>
    ReadTransaction BeginSame(Snapshot snapshot);

    /// <inheritdoc cref="StorageEnvironment.ExitRead"/>
    void ExitRead(ReaderTable.Slot slot);

    /// <inheritdoc cref="StorageEnvironment.Write"/>
    TResult Write<TResult>(Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default);

    /// <inheritdoc cref="StorageEnvironment.WriteAsync"/>
    ValueTask<TResult> WriteAsync<TResult>(
        Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default);
}
