namespace Treepie.Storage.Transactions;

/// <summary>What transactions, sessions and long operations use of the environment that they belong to.</summary>
internal interface ITransactionSource
{
    /// <summary>The state they share.</summary>
    EnvironmentState State { get; }

    /// <inheritdoc cref="StorageEnvironment.GetStatistics"/>
    StorageStatistics GetStatistics();

    /// <inheritdoc cref="StorageEnvironment.BeginRead"/>
    ReadTransaction BeginRead(string? name = null);

    /// <summary>
    /// Begins another read of a state that somebody else reads, and goes on reading until this returns: so none of its pages has
    /// gone.
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
